/** How text is emphasised. Rendering is pure: it is given the paint, and `PLAIN` leaves no mark. */
export interface Paint {
  good: (text: string) => string;
  bad: (text: string) => string;
  warn: (text: string) => string;
  dim: (text: string) => string;
  strong: (text: string) => string;
}

const asIs = (text: string): string => text;

export const PLAIN: Paint = { good: asIs, bad: asIs, warn: asIs, dim: asIs, strong: asIs };
