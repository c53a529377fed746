/** Which of what is known goes before a prompt: as much as the model's window has room for, beside the conversation and the answer. */
import { type LeftOut, shortenedText } from '../../../language/models/left-out.ts';
import { estimateText } from './estimate.ts';

/** The most that is told, in tokens, however large the window is. */
const contextTokensMax = 24_000;
/** Where nobody says how large the window is. */
const windowSupposed = 32_768;
/** Left for the answer, where the step does not say how long it may be. */
const answerTokensUsual = 8_192;
/** Tokens are counted from characters, and may be more than they seem. */
const surely = 0.75;
/** A part that would be cut shorter than this is left out. */
const partTokensMin = 100;
const headingTokens = 12;
/** What says that a part is cut. */
const cutTokens = 30;

export interface ContextPart {
  /** `file src/a.ts`, `variable plan`. */
  name: string;
  text: string;
}

export interface Room {
  /** As it is allocated; null where nobody says. */
  window: number | null;
  /** Tokens of the request without the context. */
  sent: number;
  /** Of the answer. */
  maxTokens: number | undefined;
  /** The conversation will grow by what tools give. */
  hasTools: boolean;
}

/** Tokens for the context. */
export function roomFor({ window, sent, maxTokens, hasTools }: Room): number {
  const whole = window ?? windowSupposed;
  const answer = Math.min(maxTokens ?? answerTokensUsual, whole / 2);
  const free = (whole - answer - sent) * surely;
  return Math.max(0, Math.min(contextTokensMax, Math.floor(hasTools ? free / 2 : free)));
}

export interface Fitted {
  parts: ContextPart[];
  /** What went in, with its tokens; `cut` where it is not the whole. */
  put: { name: string; tokens: number; cut?: true }[];
  leftOut: LeftOut[];
  tokens: number;
}

/**
 * Variables before sources, since they are what the run itself has come to; where there are both, variables
 * get half of the room, and sources what is left.
 */
export function fitContext(
  { variables, sources }: { variables: readonly ContextPart[]; sources: readonly ContextPart[] },
  room: number,
): Fitted {
  const first = fitParts(variables, sources.length > 0 ? Math.floor(room / 2) : room);
  const second = fitParts(sources, room - first.tokens);
  return {
    parts: [...first.parts, ...second.parts],
    put: [...first.put, ...second.put],
    leftOut: [...first.leftOut, ...second.leftOut],
    tokens: first.tokens + second.tokens,
  };
}

/** In order, as much as `room` tokens hold; `partTokensMax` keeps one part from taking the room of all others. */
export function fitParts(given: readonly ContextPart[], room: number, partTokensMax = Infinity): Fitted {
  const fitted: Fitted = { parts: [], put: [], leftOut: [], tokens: 0 };
  for (const { name, text } of given) {
    const whole = estimateText(text) + headingTokens;
    const left = Math.min(room - fitted.tokens, partTokensMax);
    if (whole > left && left < partTokensMin) {
      const why = `it has about ${whole} tokens, and ${Math.max(0, left)} are left of the ${room} that there is room for`;
      fitted.leftOut.push({ name, why });
      continue;
    }
    const isCut = whole > left;
    const tokens = Math.min(whole, left);
    fitted.tokens += tokens;
    fitted.parts.push({ name, text: isCut ? shortenedText(text, (left - headingTokens - cutTokens) * 4) : text });
    fitted.put.push({ name, tokens, ...(isCut ? { cut: true as const } : {}) });
  }
  return fitted;
}
