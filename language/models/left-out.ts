/** A part of a context that was not even considered, and why. */
export interface LeftOut {
  name: string;
  why: string;
}
