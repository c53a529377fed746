/** Whether this worker has stood still (SIGSTOP, a machine that slept) for so long that another one may have come. */
const lookMs = 1_000;
/** Less than what the server waits for a sign of life of a step. */
const stillMs = 8_000;

export class Awake {
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #hasStoodStill = false;

  watch(): void {
    if (this.#timer !== undefined) return;
    this.#lookedAt = performance.now();
    this.#hasStoodStill = false;
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  get hasStoodStill(): boolean {
    this.#look();
    return this.#hasStoodStill;
  }

  #look(): void {
    const now = performance.now();
    this.#hasStoodStill ||= now - this.#lookedAt > stillMs;
    this.#lookedAt = now;
  }
}
