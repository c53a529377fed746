/** Ports on which the services of Sentinel listen, where nobody has said otherwise. */
export const PORTS = { temporal: 7233, postgres: 5432, webhooks: 7246 } as const;

/** From the port of a Temporal server to that of its Web UI. */
export const TO_WEB_UI = 1000;
