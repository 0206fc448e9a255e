/**
 * A warm start for Search Self-Play whose roles can do more than they usually do: a proposer that seldom asks about all that it found, and a solver
 * that takes the second hop for the last one. Questions of three hops are rare and still answered well, so that a proposer can find a frontier.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { demonstrateSearch, type Habits } from './demonstrations.ts';

export const TWO_HOP: Habits = { uses: [0.4, 0.3, 0.3], wrong: 0.1, stops: [0, 0.9] };

export const demonstrateTwoHop = (random: Random): Demonstration => demonstrateSearch(random, TWO_HOP);
