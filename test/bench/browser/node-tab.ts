/** The page /node of a mesh, as whoever lends a browser tab uses it. */
import type { Page, Response } from 'playwright-core';

const STOP_MS = 20_000;

/** Opens the page with a token and presses the button. `engine`: by its value in the list; default: the one that the page has chosen. */
export async function lendTab(page: Page, url: string, token: string, engine?: string): Promise<Response> {
  const opened = await page.goto(`${url}/node`);
  await page.fill('#node-token', token);
  if (engine !== undefined) await page.selectOption('#engine', engine);
  await page.click('#button');
  return opened!;
}

/** How many completions the page says that it has returned. */
export const samplesOfTab = async (page: Page): Promise<number> =>
  Number((await page.textContent('#samples'))!.replaceAll(',', ''));

/** Presses the button again and waits until the tab holds nothing more. */
export async function stopTab(page: Page): Promise<void> {
  await page.click('#button');
  await page.locator('#node-status', { hasText: 'Stopped' }).waitFor({ timeout: STOP_MS });
}
