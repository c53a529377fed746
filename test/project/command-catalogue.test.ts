/** The commands that the requirements name, with each parameter that their sources show: each is built, or known as planned. */
import { expect, test } from 'vitest';
import { builtInParameters } from '../../systems/catalogue.ts';
import { PLANNED } from '../../systems/planned.ts';
import { isJsonObject } from '../../language/json.ts';
import { read } from './tree.ts';

/** By requirement. A run and a definition are named in two ways, which both hold. */
const CATALOGUE: readonly (readonly [requirement: string, commands: readonly string[], params: readonly string[]])[] = [
  ['R5.1', ['sentinel/create'], ['file', 'name', 'steps', 'loop', 'definition']],
  ['R5.2', ['sentinel/start'], ['definition', 'sentinelId']],
  ['R5.2', ['sentinel/stop', 'sentinel/pause', 'sentinel/resume'], ['handle', 'sentinelId']],
  ['R5.3', ['sentinel/status'], ['handle']],
  ['R5.4', ['sentinel/list'], ['personaId']],
  ['R5.5', ['sentinel/step/add'], ['sentinelId', 'index', 'step']],
  ['R5.6', ['sentinel/step/update'], ['sentinelId', 'index', 'params']],
  ['R5.7', ['sentinel/step/remove'], ['sentinelId', 'index']],
  ['R5.8', ['sentinel/step/list'], ['sentinelId']],
  ['R5.9', ['sentinel/run'], ['definition', 'sentinelId', 'type', 'steps', 'command']],
  ['R5.10', ['sentinel/cancel'], ['handle']],
  ['R5.11', ['sentinel/save'], ['definition', 'tags']],
  ['R5.12', ['sentinel/load'], []],
  ['R5.13', ['sentinel/export'], ['sentinelId', 'output', 'includeHistory']],
  ['R5.14', ['sentinel/import'], ['file', 'personaId', 'addToMemory']],
  ['R5.15', ['sentinel/deploy'], []],
  ['R5.16', ['sentinel/logs/list'], ['handle']],
  ['R5.17', ['sentinel/logs/read'], ['stream', 'offset', 'limit']],
  ['R5.18', ['sentinel/logs/tail'], ['handle', 'stream', 'lines']],
  ['R5.19', ['ai/generate'], []],
  ['R5.20', ['ai/should-respond', 'rag/build'], []],
  ['R5.21', ['ai/dataset/create'], ['source', 'outputPath']],
  ['R5.22', ['ai/dataset/list'], ['path']],
  ['R5.23', ['code/shell/execute'], ['command', 'args', 'cwd', 'wait']],
  ['R5.24', ['code/shell/sentinel'], ['executionId', 'rules']],
  ['R5.25', ['code/shell/watch'], ['executionId']],
  ['R5.26', ['code/git'], ['operation', 'paths', 'message', 'base', 'staged', 'format', 'count']],
  ['R5.27', ['code/read'], ['path']],
  ['R5.28', ['code/write'], ['path', 'content']],
  ['R5.29', ['code/edit'], []],
  ['R5.30', ['code/search'], ['pattern', 'glob']],
  ['R5.31', ['code/tree'], ['depth']],
  ['R5.32', ['code/verify'], ['fullTest', 'path', 'testFile']],
  ['R5.33', ['code/diagnostics'], []],
  ['R5.34', ['data/create'], ['collection', 'data']],
  ['R5.35', ['data/list'], ['collection', 'filter', 'orderBy', 'limit']],
  ['R5.36', ['data/read', 'data/update', 'data/delete'], ['collection', 'filter']],
  ['R5.37', ['memory/store'], ['personaId', 'type', 'content', 'tags']],
  ['R5.38', ['memory/recall'], ['personaId', 'query', 'type', 'limit']],
  ['R5.39', ['memory/share'], ['from', 'to', 'filter']],
  ['R5.40', ['inbox/peek'], ['personaId', 'limit']],
  ['R5.41', ['inbox/acknowledge'], ['itemId']],
  ['R5.42', ['collaboration/chat/send'], ['room', 'message']],
  ['R5.43', ['workspace/create'], ['isolationType', 'branch']],
  ['R5.44', ['workspace/merge'], ['branches']],
  ['R5.45', ['genome/train'], ['baseModel', 'dataset', 'outputAdapter', 'epochs', 'learningRate']],
  ['R5.46', ['genome/layer-register', 'genome/paging-adapter-register'], ['adapterPath', 'domain', 'performance']],
  ['R5.47', ['genome/layer-list'], ['domain', 'baseModel']],
  ['R5.48', ['genome/compose'], ['layers', 'method']],
  ['R5.49', ['genome/set-active'], ['personaId', 'composition']],
  ['R5.50', ['genome/export'], ['personaId', 'outputPath']],
  ['R5.51', ['genome/import'], ['personaId', 'importPath']],
  ['R5.52', ['genome/dataset-synthesize'], ['topic']],
  ['R5.53', ['genome/train-voice', 'genome/train-image'], []],
  ['R5.54', ['health-check'], []],
  ['R5.55', ['runtime/metrics/all'], []],
  ['R5.56', ['screenshot'], ['url']],
  ['R5.57', ['search_tools'], []],
];

const parameters = builtInParameters();
/** It states the parameter, or takes the keys of a definition beside those that it states. */
function takes(command: string, name: string): boolean {
  const { properties, additionalProperties } = parameters[command] ?? {};
  return (isJsonObject(properties) && Object.hasOwn(properties, name)) || additionalProperties !== false;
}

test.each(CATALOGUE)('%s: %j take %j, and stand in the reference', (_requirement, commands, params) => {
  const reference = read('docs/command-reference.md');
  for (const command of commands) {
    const isBuilt = Object.hasOwn(parameters, command);
    expect({ command, isKnown: isBuilt || Object.hasOwn(PLANNED, command) }).toEqual({ command, isKnown: true });
    expect(reference.includes(`\`${command}\``), command).toBe(true);
    if (isBuilt)
      expect({ command, missing: params.filter((name) => !takes(command, name)) }).toEqual({
        command,
        missing: [],
      });
  }
});

test('what is planned is in the catalogue, and nothing is both planned and built', () => {
  const named = new Set(CATALOGUE.flatMap(([, commands]) => commands));
  expect(Object.keys(PLANNED).filter((command) => !named.has(command) || Object.hasOwn(parameters, command))).toEqual(
    [],
  );
});
