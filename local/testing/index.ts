/** `rollmesh/testing`: plays a recipe in the test's own process, with completions that the test writes or with a real policy that is trained. */
export { expectExplained } from './explained.ts';
export { type PlayedRounds, type PlayOptions, playRounds } from './play-rounds.ts';
export { type PlayedRound, playWritten, type WriteOptions } from './play-written.ts';
export { scriptedPolicy, textTokenizer } from './scripted-policy.ts';
