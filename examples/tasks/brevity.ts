/** A reward of the project's own: 1 for an answer of one token, less for every further one, and none for an answer that was cut off. */
import type { RewardFunction } from 'rollmesh';

const LONGEST = 26;

const brevity: RewardFunction = ({ ended, tokens }) => (ended ? 1 - (tokens - 1) / LONGEST : 0);

export default brevity;
