/** Lets the built program import the user's TypeScript modules. The project's own sources are run with it from the start. */
let typeScript: Promise<unknown> | undefined;

export const readTypeScript = (): Promise<unknown> => {
  typeScript ??= import('tsx/esm/api').then(({ register }) => register());
  return typeScript;
};
