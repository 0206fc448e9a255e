/** Which Node this project needs: `engines.node` of package.json, in one place for the install, the commands and the tests. */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The oldest Node that plays this project, such as `22.19`. */
export const OLDEST_NODE = engines.node.replace('>=', '');

/**
 * True where a version such as `v24.1.0` is at least the oldest that plays.
 * @param {string} version
 */
export function isCurrent(version) {
  const [major, minor] = version.replace('v', '').split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
