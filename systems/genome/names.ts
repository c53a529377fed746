/** What layers are called: as a model's text names them behind its "+". */

export const LAYER_NAME_MAX = 100;

/** What a name of a layer cannot have is a dash. */
export const layerName = (asked: string): string =>
  asked
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .replace(/-genome$/, '-layer')
    .slice(0, LAYER_NAME_MAX) || 'layer';
