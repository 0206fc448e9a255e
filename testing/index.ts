/** `rollmesh/testing`: a recipe played in the test's own process, by words that the test writes or by a real policy that is trained. */
export { type PlayedRounds, type PlayOptions, playRounds } from './play-rounds.ts';
export { type PlayedRound, playWritten, type WriteOptions } from './play-written.ts';
export { scriptedPolicy, textTokenizer } from './scripted-policy.ts';
