const FAILURE = {
  status: 503,
  contentType: 'application/problem+json',
  body: JSON.stringify({
    title: 'Service Unavailable',
    status: 503,
    code: 'unavailable',
    detail: 'Redis does not respond. Retry later.',
  }),
}
const button = (name) => async (page) => page.getByRole('button', { name }).first().click()
const tab = (name) => async (page) => page.getByRole('tab', { name }).click()

/**
 * All pages: a name, a path below /dashboard/, and what to do there first. `api` replaces the responses of the API after the
 * session: `fails`, or `waits` for ever.
 *
 * @param {{files: object, magazine: string}} content
 */
export function tourOf({ files, magazine }) {
  const details = (name) => `c/first/files?file=${encodeURIComponent(files[name].s3PathOriginal)}`
  const playground = (name, query = '') => `c/first/playground/${files[name].s3PathOriginal}?${query}`
  return [
    { name: 'sign-in', path: 'sign-in', isSignedOut: true },
    { name: 'welcome-expired', path: 'welcome#none', isSignedOut: true },
    { name: 'files', path: 'c/first/files' },
    {
      name: 'files-table',
      path: 'c/first/files',
      before: (page) => page.addInitScript(`localStorage.setItem('sluice-files-view', 'table')`),
    },
    { name: 'files-selected', path: 'c/first/files', act: selectTwo },
    { name: 'files-empty', path: `c/${magazine}/files` },
    { name: 'files-loading', path: 'c/first/files', api: 'waits' },
    { name: 'files-failed', path: 'c/first/files', api: 'fails' },
    { name: 'details-picture', path: details('fjord-at-dawn.jpg') },
    { name: 'details-edit', path: details('fjord-at-dawn.jpg'), act: tab('Edit') },
    { name: 'details-share', path: details('fjord-at-dawn.jpg'), act: tab('Share') },
    { name: 'details-derivatives', path: details('fjord-at-dawn.jpg'), act: tab('Derivatives') },
    { name: 'details-aliases', path: details('fjord-at-dawn.jpg'), act: tab('Aliases') },
    { name: 'details-video', path: details('coast-flight.mp4') },
    { name: 'details-audio', path: details('podcast-intro.mp3') },
    { name: 'details-pdf', path: details('price-list.pdf') },
    { name: 'details-text', path: details('read-me.md') },
    { name: 'upload', path: 'c/first/files', act: button('Upload') },
    { name: 'palette', path: 'c/first/files', act: (page) => page.keyboard.press('Control+k') },
    { name: 'shortcuts', path: 'c/first/files', act: (page) => page.keyboard.press('?') },
    { name: 'playground', path: playground('fjord-at-dawn.jpg', 'w=900&h=600&f=webp') },
    { name: 'playground-empty', path: 'c/first/playground' },
    { name: 'jobs', path: 'c/first/jobs' },
    { name: 'jobs-empty', path: `c/${magazine}/jobs` },
    { name: 'trash', path: 'c/first/trash' },
    { name: 'trash-empty', path: `c/${magazine}/trash` },
    { name: 'clients', path: 'clients' },
    { name: 'client', path: 'clients/first' },
    { name: 'webhooks', path: 'webhooks' },
    { name: 'usage', path: 'usage' },
    { name: 'usage-loading', path: 'usage', api: 'waits' },
    { name: 'health', path: 'health' },
    { name: 'health-failed', path: 'health', api: 'fails' },
    { name: 'members', path: 'members' },
    { name: 'members-invite', path: 'members', act: button('Invite a member') },
    { name: 'members-loading', path: 'members', api: 'waits' },
    { name: 'audit', path: 'audit' },
    { name: 'account', path: 'account' },
    { name: 'not-found', path: 'no-such-page' },
    { name: 'navigation', path: 'c/first/files', act: openNavigation },
  ]
}

async function selectTwo(page) {
  for (const name of ['Select city-lights.jpg', 'Select glacier.jpg'])
    await page.getByRole('checkbox', { name }).click({ force: true, timeout: 5000 })
}

async function openNavigation(page) {
  const menu = page.getByRole('button', { name: 'Open menu' })
  if (await menu.isVisible()) await menu.click()
}

/** Opens one stop of the tour, and waits until nothing changes any more. */
export async function visit(page, { url, stop }) {
  await stop.before?.(page)
  if (stop.api)
    await page.route(/\/v1\/(?!session)|\/readyz/, (route) =>
      stop.api === 'fails' ? route.fulfill(FAILURE) : undefined,
    )
  await page.goto(`${url}/dashboard/${stop.path}`)
  await settled(page, { isWaiting: stop.api === 'waits' })
  if (!stop.act) return
  await stop.act(page)
  await settled(page)
}

// No skeleton, and every picture in the window is loaded.
const IS_COMPLETE = `!document.querySelector('.animate-pulse') &&
  [...document.images].every((image) => (image.complete && image.naturalWidth > 0 && getComputedStyle(image).opacity === "1") || image.getBoundingClientRect().top > innerHeight)`

/** Without running requests and animations. A page that polls or streams, or waits for ever, settles nevertheless. */
async function settled(page, { isWaiting = false } = {}) {
  await page.waitForLoadState('networkidle', { timeout: 4000 }).catch(() => {})
  // `waitForFunction` needs `eval`, which the policy of the page refuses.
  for (let attempt = 0; attempt < 100 && !isWaiting; attempt += 1) {
    if (await page.evaluate(IS_COMPLETE)) break
    await page.waitForTimeout(200)
  }
  await page.waitForTimeout(300)
}
