/** Why the commands of an MCP server are held. */
import { Failure } from '../failures/failures.ts';

export const notAccepted = (server: string, why: string): Failure =>
  new Failure(
    'MCP_NOT_ACCEPTED',
    `the tools of the MCP server "${server}" are not those that a person accepted (${why}): "sentinel mcp list" shows them with a digest, and "sentinel mcp accept ${server} DIGEST" accepts them`,
  );
