export const OLDEST_NODE: string;
export function isCurrent(version: string): boolean;
