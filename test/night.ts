/** Tests that `npm test` leaves to `.ci/night`, by docs/decisions/0045. A file that has such tests imports this one. */

/** Whether the tests of the night are run. */
export const NIGHT = process.env.ROLLMESH_NIGHT !== undefined;

/** The end of the name of a test that is skipped without them. */
export const IN_THE_NIGHT = NIGHT ? '' : ', in `.ci/night`';
