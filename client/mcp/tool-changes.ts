/** What has changed between the tools of an MCP server that were accepted and those that it has. */
import { structuredPatch } from 'diff';
import type { McpTool } from '../../services/config/accepted-tools.ts';

export interface ToolChange {
  tool: string;
  change: 'new' | 'gone' | 'changed';
  /** Lines of a unified diff of its description and schemas. */
  diff: string[];
}

export function toolChanges(before: readonly McpTool[], after: readonly McpTool[]): ToolChange[] {
  const [old, now] = [textsOf(before), textsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].toSorted().flatMap((tool): ToolChange[] => {
    const [was, is] = [old.get(tool), now.get(tool)];
    if (was === is) return [];
    const change = was === undefined ? 'new' : is === undefined ? 'gone' : 'changed';
    const { hunks } = structuredPatch(tool, tool, was ?? '', is ?? '', '', '', { context: 2 });
    return [{ tool, change, diff: hunks.flatMap(({ lines }) => lines) }];
  });
}

const textsOf = (tools: readonly McpTool[]): Map<string, string> =>
  new Map(tools.map((tool) => [tool.name, `${JSON.stringify(tool, null, 2)}\n`]));
