/** The commands with which layers travel between installations. */
import { type Command, defineCommand } from '../../operations/command.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { exportGenome, ExportParams, ExportResult } from './export.ts';
import { BASE_FAILURES, COMPOSITION_FAILURES, GATE_FAILURES, LAYER_FAILURES, TRAINER_FAILURES } from './failures.ts';
import { importGenome, ImportParams, ImportResult } from './import.ts';

const copyTimeMs = 3_600_000;

export const travelCommands: Command[] = [
  defineCommand({
    name: 'genome/export',
    description: 'Writes a layer, or the layers that a persona uses, into a signed folder.',
    permission: 'write',
    speed: 'long',
    timeoutMs: copyTimeMs,
    textField: 'path',
    // What a model writes stays in the project, by the commands for files.
    doors: ['step', 'person'],
    failures: LAYER_FAILURES,
    params: ExportParams,
    needs: [['personaId'], ['layer']],
    result: ExportResult,
    run: exportGenome,
    predict: ({ personaId, layer, outputPath }) => ({
      text: `writes ${simulatedText(layer ?? personaId)} into ${simulatedText(outputPath)}`,
      source: 'assumed',
      result: null,
    }),
  }),
  defineCommand({
    name: 'genome/import',
    description: 'Makes layers of what a signed folder holds, and has a persona use them.',
    permission: 'write',
    speed: 'long',
    timeoutMs: copyTimeMs,
    unconfined: true,
    keepsProcess: () => true,
    doors: ['step', 'person'],
    failures: { ...BASE_FAILURES, ...LAYER_FAILURES, ...GATE_FAILURES, ...COMPOSITION_FAILURES, ...TRAINER_FAILURES },
    params: ImportParams,
    result: ImportResult,
    run: importGenome,
    predict: ({ importPath, personaId }) => ({
      text: `imports ${simulatedText(importPath)}${personaId === undefined ? '' : ` for ${simulatedText(personaId)}`}`,
      source: 'assumed',
      result: null,
    }),
  }),
];
