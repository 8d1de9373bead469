import type { TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { requirePackage } from '../../../scripts/install-packages.js'
import { findTool } from './tool.ts'

/** Returns the path of Chromium, or skips the test and returns undefined if it is not installed. */
export function findChromium(t: Pick<TestContext, 'name' | 'skip'>): string | undefined {
  return findTool(t, {
    name: 'Chromium',
    hint: 'apt-get install chromium-headless-shell, or set CHROME_PATH',
    // The headless shell needs two thirds of the CPU time.
    commands: [
      process.env.CHROME_PATH,
      '/usr/bin/chromium-headless-shell',
      '/usr/bin/chromium',
      'chromium',
      'chromium-browser',
      'google-chrome',
    ],
    probe: ['--version'],
  })
}

export function launchChromium(executablePath: string): Promise<Browser> {
  const { chromium } = requirePackage('tools/browser', 'playwright-core') as typeof import('playwright-core')
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
