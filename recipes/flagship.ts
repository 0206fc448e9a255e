/** The recipe of a run that names none: of `npx rollmesh start`, and of the page /try. */
export const FLAGSHIP = 'trio-in-composition';
