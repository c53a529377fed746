/** Told to a model that has no tools of its own: which there are, and how it writes a call. */
import type { Tool } from '../../../world/models/port/turn.ts';
import type { Prompt } from '../../../world/models/prompt.ts';

export const toolsInText: Prompt<{ tools: readonly Tool[] }> = {
  name: 'tools-in-text',
  version: 1,
  render: ({ tools }) =>
    [
      'You can call tools. To call one, write nothing but <tool_call>{"name": NAME, "arguments": {…}}</tool_call>, and you will be told the result. When you need none any more, answer in plain text.',
      ...tools.map(
        ({ name, description, parameters }) => `${name}: ${description} Arguments: ${JSON.stringify(parameters)}`,
      ),
    ].join('\n'),
};
