/** The line in which a node says what it has done. */

export interface NodeWork {
  readonly requests: number;
  readonly samples: number;
  readonly tokens: number;
  /** Since the line before. */
  readonly tokensPerSecond: number;
  /** Tokens so far for each second in which a thread generated; opening versions and waiting for work are not in it. Absent where a server computes. */
  readonly tokensPerThreadSecond?: number;
}

export const workLine = (work: NodeWork): string => {
  const { requests, samples, tokens, tokensPerSecond, tokensPerThreadSecond } = work;
  const own =
    tokensPerThreadSecond === undefined
      ? ''
      : `; ${tokensPerThreadSecond} for each second that a thread generates`;
  return `${requests} requests, ${samples} completions, ${tokens} tokens (${tokensPerSecond} a second${own})`;
};
