/** How a client finds its servers. */
import type { Environment } from '../../services/config/config.ts';

export interface ConnectOptions {
  env?: Environment;
  /** Told what is going on while services start; never called when everything is up. */
  onProgress?: (text: string) => void;
  /** False: services are used as they are; none is started, stopped or changed over to `env`. Default true. */
  startsServices?: boolean;
}
