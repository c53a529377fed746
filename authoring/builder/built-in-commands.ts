/**
 * What the built-in commands take. Written by test/language/builder/command-types.test.ts from their schemas:
 * `npx vitest run --project fast test/language/builder -u` writes it again.
 */
import type { Json } from '../../language/json.ts';

export interface BuiltInCommands {
  'code/read': {
    path: string;
    encoding?: 'utf8' | 'base64';
  };
  'code/write': {
    path: string;
    content: string;
  };
  'code/edit': {
    path: string;
    /** the passage as it stands in the file, with enough around it to be there once */
    old?: string;
    /** what comes in its place */
    new?: string;
    /** true: every place of the passage */
    all?: boolean;
    /** several at once, in place of "old" and "new": one after the other, all or none */
    edits?: {
      /** the passage as it stands in the file, with enough around it to be there once */
      old: string;
      /** what comes in its place */
      new: string;
      /** true: every place of the passage */
      all?: boolean;
    }[];
  };
  'code/search': {
    pattern: string | string[];
    /** only files like these, for instance "*.ts"; "!" in front leaves them out */
    glob?: string | string[];
    /** a folder or a file of the project */
    path?: string;
    ignoreCase?: boolean;
    limit?: number;
  };
  'code/tree': {
    /** a folder of the project */
    path?: string;
    depth?: number;
  };
  'code/verify': {
    /** true: goes on after a check that failed */
    fullTest?: boolean;
    /** a folder of the project that has checks of its own, or a test file */
    path?: string;
    /** only the tests of this file */
    testFile?: string;
    /** only these */
    checks?: ('typescript' | 'vitest' | 'jest' | 'node:test' | 'npm test' | 'pytest' | 'cargo' | 'go')[];
    timeoutMs?: number;
  };
  'code/diagnostics': {
    /** a file or a folder of the project; without it, all its sources */
    path?: string;
    timeoutMs?: number;
  };
  'code/undo': {
    key?: string;
    only?: boolean;
    force?: boolean;
  };
  'code/git': {
    operation:
      | 'add'
      | 'commit'
      | 'diff'
      | 'log'
      | 'push'
      | 'status'
      | 'show'
      | 'branches'
      | 'branch'
      | 'delete-branch'
      | 'switch'
      | 'unstage'
      | 'restore'
      | 'stash'
      | 'unstash'
      | 'stashes'
      | 'fetch'
      | 'pull'
      | 'merge';
    paths?: string | string[];
    message?: string;
    base?: string;
    staged?: boolean;
    format?: string;
    count?: number;
    remote?: string;
    branch?: string;
    commit?: string;
    /** its content in that commit */
    file?: string;
    name?: string;
    from?: string;
    create?: boolean;
    untracked?: boolean;
  };
  'code/shell/execute': {
    command: string;
    args?: (string | number | boolean)[];
    cwd?: string;
    env?: { [name: string]: string | number | boolean };
    stdin?: Json;
    timeoutMs?: number;
    wait?: boolean;
    port?: boolean | number;
  };
  'code/shell/sentinel': {
    executionId: string;
    rules: {
      pattern: string;
      classification: string;
      action?: string;
    }[];
  };
  'code/shell/watch': {
    executionId: string;
    rules?: {
      pattern: string;
      classification: string;
      action?: string;
    }[];
    until?: 'finished' | 'error' | 'match';
    timeoutMs?: number;
  };
  'data/create': {
    collection: string;
    data: { [name: string]: Json };
    id?: string | number;
  };
  'data/list': {
    collection: string;
    filter?: { [name: string]: Json };
    orderBy?:
      | {
          field: string;
          direction?: 'asc' | 'desc';
        }[]
      | {
          field: string;
          direction?: 'asc' | 'desc';
        };
    limit?: number;
    offset?: number;
  };
  'data/read': {
    collection: string;
    filter?: { [name: string]: Json };
    id?: string | number;
  };
  'data/update': {
    collection: string;
    filter?: { [name: string]: Json };
    id?: string | number;
    data: { [name: string]: Json };
  };
  'data/delete': {
    collection: string;
    filter?: { [name: string]: Json };
    id?: string | number;
  };
  'sentinel/run': {
    definition?: string | { [name: string]: Json };
    inputs?: { [name: string]: Json };
    type?: 'pipeline';
    steps?: { [name: string]: Json }[];
    name?: string;
    sentinelId?: string;
    command?: string;
    args?: Json[];
  };
  'sentinel/start': {
    definition?: string | { [name: string]: Json };
    inputs?: { [name: string]: Json };
    type?: 'pipeline';
    steps?: { [name: string]: Json }[];
    name?: string;
    sentinelId?: string;
    command?: string;
    args?: Json[];
  };
  'sentinel/status': {
    handle: string;
  };
  'sentinel/list': {
    status?: 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';
    limit?: number;
    personaId?: string;
  };
  'sentinel/logs/list': {
    handle: string;
  };
  'sentinel/logs/read': {
    handle: string;
    stream?: string;
    offset?: number;
    limit?: number;
  };
  'sentinel/logs/tail': {
    handle: string;
    stream?: string;
    lines?: number;
  };
  'sentinel/pause': {
    handle?: string;
    sentinelId?: string;
    reason?: string;
  };
  'sentinel/resume': {
    handle?: string;
    sentinelId?: string;
  };
  'sentinel/stop': {
    handle?: string;
    sentinelId?: string;
  };
  'sentinel/cancel': {
    handle?: string;
    sentinelId?: string;
  };
  'sentinel/step/list': {
    sentinelId: string;
  };
  'sentinel/step/add': {
    sentinelId: string;
    index: number | string;
    note?: string;
    step: { [name: string]: Json };
  };
  'sentinel/step/update': {
    sentinelId: string;
    index: number | string;
    note?: string;
    params?: { [name: string]: Json };
    step?: { [name: string]: Json };
  };
  'sentinel/step/remove': {
    sentinelId: string;
    index: number | string;
    note?: string;
  };
  'sentinel/create': {
    file?: string;
    definition?: string | { [name: string]: Json };
    name?: string;
    steps?: Json[] | { [name: string]: Json };
  };
  'collaboration/chat/send': {
    room?: string;
    message: string;
  };
  'collaboration/chat/read': {
    room?: string;
    limit?: number;
    /** "seq" of the last message that is known */
    after?: number;
  };
  'collaboration/chat/list': {};
  screenshot: {
    url: string;
    width?: number;
    height?: number;
    /** true: all of the page, however far it goes down */
    fullPage?: boolean;
  };
  search_tools: {
    /** what it should do, in words */
    query: string;
    limit?: number;
  };
  'ai/generate': {
    prompt?: string;
    system?: string;
    messages?: {
      role: 'user' | 'assistant';
      content: string;
    }[];
    images?: string[];
    schema?: { [name: string]: Json };
    model?: string;
    temperature?: number;
    maxTokens?: number;
    thinking?: 'off' | 'low' | 'medium' | 'high' | 'max';
    ragContext?: Json;
  };
  'ai/should-respond': {
    message?: string;
    personaId?: string;
    strategy?: string;
    model?: string;
    temperature?: number;
    maxTokens?: number;
    thinking?: 'off' | 'low' | 'medium' | 'high' | 'max';
    ragContext?: Json;
  };
  'rag/build': {
    sources?:
      | (
          | string
          | {
              name: string;
              value: Json;
            }
        )[]
      | string
      | {
          name: string;
          value: Json;
        };
    recipe?: string;
    tokens?: number;
    withText?: boolean;
    maxMessages?: number;
  };
  'health-check': {};
  'runtime/metrics/all': {};
}
