/** The ways to answer a question beside the greedy one, by the names under which they are asked for. Beams and trees need a scorer. */
export const WAYS = ['samples', 'power', 'beams', 'tree'] as const;
export type WayName = (typeof WAYS)[number];
