import type { Page } from 'playwright-core'

/** Opens a page by its link while its requests fail, and asserts that it shows the error. Then presses "Try again". */
export async function assertRetries(
  page: Page,
  { route, link }: { readonly route: string; readonly link: string },
): Promise<void> {
  let isDown = true
  const error = { code: 'unavailable', message: 'The store does not answer', request_id: 'r-42' }
  await page.route(route, (request) =>
    isDown ? request.fulfill({ status: 503, json: { success: 0, error } }) : request.continue(),
  )
  await page.getByRole('link', { name: link }).click()
  await page.getByText(error.message).waitFor()
  await page.getByText(error.request_id).waitFor()
  isDown = false
  await page.getByRole('button', { name: 'Try again' }).click()
}
