/** Starts the machine's Chromium, headless, with its own profile. Where there is none, tests say so and are skipped. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The path of the machine's Chromium; undefined where there is none. */
export const chromiumPath = PLACES.find((place) => place && existsSync(place));

/** A note in the titles of skipped tests. */
export const CHROMIUM_NEEDED = chromiumPath
  ? ''
  : ' (skipped: no Chromium here; apt-get install chromium, or name one in CHROMIUM)';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const NO_GPU = ['--disable-gpu'];
/** WebGPU on a core, by the driver that Chromium brings. */
const SOFTWARE_WEBGPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

/** Further flags, with a space between them. */
const moreFlags = () => process.env.CHROMIUM_FLAGS?.split(' ').filter(Boolean) ?? [];

/** Opens the browser with a fresh temporary profile, which is removed when it closes. `webgpu`: with WebGPU, on a software driver. */
export const openBrowser = ({ webgpu = false } = {}): Promise<Browser> =>
  chromium.launch({
    ...(chromiumPath ? { executablePath: chromiumPath } : {}),
    args: [...FLAGS, ...moreFlags(), ...(webgpu ? SOFTWARE_WEBGPU : NO_GPU)],
  });
