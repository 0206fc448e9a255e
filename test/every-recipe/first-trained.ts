/** The round by which a recipe has trained its main weights, where that is later than the first. */
export const FIRST_TRAINED: Readonly<Record<string, number>> = {
  stp: 2,
  'r-zero': 9,
  tango: 13,
  prime: 9,
  'dsmath-v2': 7,
  spark: 7,
  'sd-zero': 10,
  rewardharness: 4,
  'mr-rlvr': 7,
  sws: 7,
  asl: 3,
  'sweet-rl': 2,
  'rs-eot': 5,
};
