/**
 * `<sentinel-fsm-widget>`: the state of a cycle, its goal and its latest transitions, in any page. A module of its own that
 * imports nothing: a page loads it, and hands it what `cycle/status` says, or the address at which that is read.
 */

/** As `cycle/status` says it; what else that says is of no use here. */
export interface Shown {
  currentState: string;
  cycleContext: { goal: string } | null;
  stateHistory: readonly { from: string; to: string; timestamp: number }[];
}

/** What this module uses of a page. */
interface Element {
  textContent: string | null;
  className: string;
  append(...nodes: Element[]): void;
  replaceChildren(...nodes: Element[]): void;
}
interface Page {
  HTMLElement: new () => {
    attachShadow(options: { mode: 'open' }): Element;
    getAttribute(name: string): string | null;
  };
  customElements: { get(name: string): unknown; define(name: string, element: unknown): void };
  document: { createElement(name: string): Element };
  addEventListener(event: string, listener: () => void): void;
  removeEventListener(event: string, listener: () => void): void;
}
const page = globalThis as unknown as Page;

const NAME = 'sentinel-fsm-widget';
const EVENT = 'fsm:transition';
const everyMs = 1_000;
const entriesMax = 50;

let currentState = 'IDLE';
let cycleContext: Shown['cycleContext'] = null;
let stateHistory: Shown['stateHistory'] = [];
/** Where it is read again and again; null: it is handed over. */
let address: string | null = null;

function take(shown: Shown): void {
  ({ currentState, cycleContext, stateHistory } = shown);
}

/** What all widgets of the page show: a value, or an address that answers with one as JSON. */
export function show(source: string | Shown): void {
  address = typeof source === 'string' ? source : null;
  if (typeof source !== 'string') take(source);
}

/** What cannot be read leaves what is shown as it is. */
async function read(from: string): Promise<void> {
  try {
    const response = await fetch(from);
    if (response.ok) take((await response.json()) as Shown);
  } catch {
    // The next second tries again.
  }
}

const STYLE = `
  :host { display: block; font: 12px monospace; color: #fff; }
  section { background: rgba(0, 0, 0, 0.6); border-left: 3px solid #0ff; padding: 8px 12px; margin: 4px 0; }
  .state { font-size: 18px; font-weight: bold; color: #0ff; }
  .idle { border-left-color: #888; }
  .active { border-left-color: #0ff; }
  .error { border-left-color: #f44; }
  .error .state { color: #f44; }
  .history { max-height: 300px; overflow-y: auto; }
`;

const indicator = (): string => (currentState === 'ERROR' ? 'error' : currentState === 'IDLE' ? 'idle' : 'active');

/** Text alone: what a goal says is never taken for a part of the page. */
function element(name: string, className: string, ...held: (Element | string)[]): Element {
  const made = page.document.createElement(name);
  made.className = className;
  for (const one of held)
    if (typeof one === 'string') made.textContent = one;
    else made.append(one);
  return made;
}

const timeOf = (timestamp: number): string => new Date(timestamp).toISOString().slice(11, 19);

function panels(): Element[] {
  const style = page.document.createElement('style');
  style.textContent = STYLE;
  const entries = stateHistory
    .slice(-entriesMax)
    .toReversed()
    .map(({ from, to, timestamp }) => element('div', 'entry', `${timeOf(timestamp)} ${from} → ${to}`));
  return [
    style,
    element('section', indicator(), element('div', 'state', currentState)),
    element('section', 'goal', cycleContext?.goal ?? 'No active cycle'),
    element('section', 'history', ...entries),
  ];
}

export class SentinelFSMWidget extends page.HTMLElement {
  static readonly metadata = { displayName: 'Sentinel FSM', icon: '🔄', category: 'agent' };

  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #redraw = (): void => void this.#update();
  #timer: ReturnType<typeof setInterval> | null = null;

  connectedCallback(): void {
    const src = this.getAttribute('src');
    if (src !== null) show(src);
    this.render();
    this.#redraw();
    this.#timer = setInterval(this.#redraw, everyMs);
    page.addEventListener(EVENT, this.#redraw);
  }

  disconnectedCallback(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    page.removeEventListener(EVENT, this.#redraw);
  }

  render(): void {
    this.#root.replaceChildren(...panels());
  }

  async #update(): Promise<void> {
    if (address !== null) await read(address);
    if (this.#timer !== null) this.render();
  }
}

if (page.customElements.get(NAME) === undefined) page.customElements.define(NAME, SentinelFSMWidget);
