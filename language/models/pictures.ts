/**
 * Pictures among the values of a run: what a step gave that is one, a path to one in the project, or its
 * bytes as base64. A model gets them as pictures; in text their bytes are nothing but noise.
 */
import { isJsonObject, type Json, type JsonObject } from '../json.ts';

export interface Picture {
  mediaType: string;
  /** Base64. */
  data: string;
}

/** A path; a text that may be one, and is only text where there is no such file; or the picture itself. */
export type FoundPicture = string | { mention: string } | Picture;

const PATH = /^[^\0\r\n]{1,500}\.(?:png|jpe?g|gif|webp)$/i;
const DATA_URL = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=\s]+)$/;
const BASE64 = /^[A-Za-z0-9+/\s]+(?:=\s*){0,2}$/;
/** How the bytes of each begin, as base64. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];
const bytesTextMin = 64;
const FIELDS = ['data', 'content', 'base64', 'image', 'screenshot', 'output'] as const;

/** The pictures that a value is: one, or all of a list of nothing else. Empty where it is something else. */
export function picturesOf(value: Json): FoundPicture[] {
  if (!Array.isArray(value)) {
    const found = pictureOf(value);
    return found === null ? [] : [found];
  }
  const found = value.map((item) => pictureOf(item));
  return found.some((one) => one === null) ? [] : found.filter((one) => one !== null);
}

function pictureOf(value: Json): FoundPicture | null {
  if (typeof value === 'string') {
    const picture = bytesOf(value);
    if (picture !== null) return picture;
    return PATH.test(value) && !value.includes('://') ? { mention: value } : null;
  }
  if (!isJsonObject(value)) return null;
  const { path } = value;
  return bytesIn(value) ?? (typeof path === 'string' && PATH.test(path) ? path : null);
}

/** Of a result that carries its picture with it. */
function bytesIn(value: JsonObject): Picture | null {
  for (const field of FIELDS) {
    const held = value[field];
    const picture = typeof held === 'string' ? bytesOf(held) : null;
    if (picture !== null) return picture;
  }
  return null;
}

function bytesOf(text: string): Picture | null {
  if (text.length < bytesTextMin) return null;
  const url = text.startsWith('data:image/') ? DATA_URL.exec(text) : null;
  if (url !== null) return { mediaType: url[1] ?? '', data: (url[2] ?? '').replaceAll(/\s/g, '') };
  const beginning = BEGINNINGS.find(([start]) => text.startsWith(start));
  return beginning === undefined || !BASE64.test(text)
    ? null
    : { mediaType: beginning[1], data: text.replaceAll(/\s/g, '') };
}

/** What stands for a picture in a text. */
export const pictureWords = (name: string | null): string => (name === null ? '[image]' : `[image: ${name}]`);

/** The value with words in place of the bytes of pictures; `found` gets each of them. */
export function withoutPictures(value: Json, found: (picture: Picture) => void = () => undefined): Json {
  if (typeof value === 'string') {
    const picture = bytesOf(value);
    if (picture === null) return value;
    found(picture);
    return pictureWords(null);
  }
  if (Array.isArray(value)) return value.map((item) => withoutPictures(item, found));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutPictures(item, found)]));
}
