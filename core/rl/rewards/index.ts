/** Rewards computed from outcomes, votes and lengths, and how several streams of them are mixed. */
export * from './history-shaping.ts';
export * from './overlong.ts';
export * from './proposer-rewards.ts';
export * from './streams.ts';
export * from './votes.ts';
