import type { Page } from 'playwright-core';

/** Everything that the page says is wrong: errors, violations of its security policy, dialogs. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  return complaints;
}
