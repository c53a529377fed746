/** Handles of runs that are given none: what runs, as a person reads it, and signs that no other run has. */
import { randomInt } from 'node:crypto';

/** Without those that are taken for others: 0 and o, 1, i and l. */
const SIGNS = '23456789abcdefghjkmnpqrstuvwxyz';
const SIGNS_COUNT = 8;
const SLUG_MAX = 40;

/** `Verify project!` makes `verify-project-7f3k2q9d`. */
export function newHandle(name: string): string {
  const signs = Array.from({ length: SIGNS_COUNT }, () => SIGNS[randomInt(SIGNS.length)]);
  return `${slugOf(name)}-${signs.join('')}`;
}

/** Letters lose their marks; a name without any letter or digit of ASCII says nothing here. */
function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? []).join('-').slice(0, SLUG_MAX).replace(/-$/, '') || 'run';
}
