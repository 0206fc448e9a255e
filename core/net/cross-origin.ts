/** Which pages of other origins may call the model endpoints from a browser: those that a setting names, and no others. */
import { wrongInput } from '../errors.ts';

/** The paths that such a page may call. */
const OPEN = /^\/(?:v1|inference|agents)\//;

export const isOpenToPages = (path: string): boolean => OPEN.test(path);

/**
 * The origins in a setting, separated by commas. Throws `cors.origin` where one is none: `*` is refused with the rest, since a local mesh
 * has no token that would keep every page of the web out.
 */
export function originsOf(setting: string | undefined): readonly string[] {
  const origins = (setting ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter(Boolean);
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw wrongInput('cors.origin', `CORS_ORIGINS names ${JSON.stringify(origin)}, which is no origin.`, {
        expected: 'scheme, host and port without a path, as in https://example.org or http://localhost:5173',
        next: 'Separate several by commas.',
      });
  return origins;
}
