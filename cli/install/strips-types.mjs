/** Whether this Node runs TypeScript as it is. Before 24.3 that is experimental, or not there. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
export const STRIPS_TYPES =
  (major > 24 || (major === 24 && minor >= 3)) && Boolean(process.features.typescript);
