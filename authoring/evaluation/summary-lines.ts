/** What an evaluation came to, for people. */
import { dollars } from '../../language/events/event-words.ts';
import type { Paint } from '../../client/show/paint.ts';
import { OUTCOME_CHECK } from './checks.ts';
import type { EvaluationOutcome } from './run-evaluation.ts';
import type { Between, CaseName, CaseResult, Comparison, ModelSummary } from './summary.ts';

const NAMES_MAX = 10;

const modelWords = (model: string | null): string => model ?? 'as defined';

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

function costWords({ usd, unpricedTokens }: Pick<ModelSummary, 'usd' | 'unpricedTokens'>): string {
  if (unpricedTokens === 0) return usd === 0 ? '$0' : dollars(usd);
  return usd === 0 ? 'not known' : `${dollars(usd)} and more`;
}

export const MODEL_HEADER = ['MODEL', 'PASSED', 'RATE', '95 % INTERVAL', 'TOKENS', 'COST', 'P50', 'P95'];

export const modelRow = (summary: ModelSummary): string[] => [
  modelWords(summary.model),
  `${summary.passed}/${summary.cases}`,
  percent(summary.rate),
  `${percent(summary.low)} to ${percent(summary.high)}`,
  summary.tokens.toLocaleString('en-US'),
  costWords(summary),
  seconds(summary.p50Ms),
  seconds(summary.p95Ms),
];

export const CHECK_HEADER = ['CHECK', 'MODEL', 'PASSED'];

export const checkRows = (models: readonly ModelSummary[]): string[][] =>
  models.flatMap(({ model, checks }) =>
    checks.map(({ name, passed, cases }) => [name, modelWords(model), `${passed}/${cases}`]),
  );

/** Which cases failed, and at what. */
export function failedLines(cases: readonly CaseResult[], paint: Paint): string[] {
  return cases
    .filter(({ passed }) => !passed)
    .flatMap(({ model, name, repeat, handle, checks }) => [
      `${paint.bad('✖')} ${[name, repeat === 1 ? '' : `(${repeat})`, model ?? '', paint.dim(handle)].filter(Boolean).join('  ')}`,
      ...checks
        .filter(({ passed }) => !passed)
        .map(({ name: check, fault }) =>
          check === OUTCOME_CHECK ? `    ${fault ?? check}` : `    ${check}${fault === undefined ? '' : `: ${fault}`}`,
        ),
    ]);
}

const caseWords = ({ model, name, repeat }: CaseName): string =>
  [name, ...(repeat === 1 ? [] : [`(${repeat})`]), ...(model === null ? [] : [`(${model})`])].join(' ');

function named(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).join(', ');
  return names.length <= NAMES_MAX ? shown : `${shown} and ${names.length - NAMES_MAX} more`;
}

export function comparedLines(compared: Comparison | null, paint: Paint): string[] {
  if (compared === null) return [];
  const { finishedAt, nowPassed, nowFailed, cases } = compared;
  const since = `compared with ${finishedAt} (${cases} cases)`;
  if (nowPassed.length + nowFailed.length === 0) return [paint.dim(`${since}: no case changed`)];
  return [
    `${since}: +${nowPassed.length} passed, ${nowFailed.length} now ${nowFailed.length === 1 ? 'fails' : 'fail'}`,
    ...(nowPassed.length === 0 ? [] : [`  ${paint.good('+')} ${named(nowPassed.map(caseWords))}`]),
    ...(nowFailed.length === 0 ? [] : [`  ${paint.bad('-')} ${named(nowFailed.map(caseWords))}`]),
  ];
}

export function betweenLines(between: readonly Between[]): string[] {
  return between.flatMap(({ one, other, onlyOne, onlyOther }) =>
    onlyOne.length + onlyOther.length === 0
      ? [`${modelWords(one)} and ${modelWords(other)} pass the same cases`]
      : [
          ...(onlyOne.length === 0 ? [] : [`only ${modelWords(one)}, not ${modelWords(other)}: ${named(onlyOne)}`]),
          ...(onlyOther.length === 0 ? [] : [`only ${modelWords(other)}, not ${modelWords(one)}: ${named(onlyOther)}`]),
        ],
  );
}

export const isPassed = ({ models }: Pick<EvaluationOutcome, 'models'>, minPass: number): boolean =>
  models.every(({ rate }) => rate >= minPass);
