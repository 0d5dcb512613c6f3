import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { type Pages, startPages } from '../../support/peers/browser-pages.ts'
import { sized } from '../../support/sized.ts'
import {
  createClient,
  firstVisit,
  rotateSecret,
  sessionEndsDuringUpload,
  signOutAndIn,
} from './steps/access.ts'
import { readUsage, savePreset } from './steps/delivery.ts'
import { deleteAndUndo, downloadZip, dropFiles, moveFolder, scrollManyFiles } from './steps/files.ts'
import { filesToDrop, type Tour } from './steps/tour.ts'

type Step = readonly [title: string, step: (tour: Tour) => Promise<void>]

/** A step that no later one needs. In `npm test`, the test of its page has it. */
const ofLongRun = (title: string, step: Step[1]) => sized<readonly Step[]>([], [[title, step]])

/** In this order: each step begins on the page, and with the files, that the one before has left. */
const STEPS: readonly Step[] = [
  ['sets up the first account by the link of the log', firstVisit],
  ['creates a client, shows its secret once, and turns on its trash', createClient],
  ['uploads two photos and a video that are dropped into a new folder', dropFiles],
  ['moves a folder with its files, and redirects their former URLs', moveFolder],
  ...ofLongRun('tries a transformation, and saves it as a preset that URLs can use', savePreset),
  ['downloads selected files as a ZIP archive', downloadZip],
  ['deletes a file, and restores it by "Undo"', deleteAndUndo],
  ...ofLongRun('rotates the secret, with an overlap and without', rotateSecret),
  ['counts deliveries on the page Usage', readUsage],
  ['refuses a wrong password after the sign-out', signOutAndIn],
  ...ofLongRun('finishes an upload whose session was ended, after the sign-in', sessionEndsDuringUpload),
  ...ofLongRun('scrolls through a folder of 10,000 files', scrollManyFiles),
]

onOneBackend('the whole tour of the console', (start) => {
  let tour: Tour
  let pages: Pages
  let errors: string[]
  before(async function () {
    this.timeout(120_000)
    const service = await start()
    pages = await startPages()
    const opened = await pages.open({ viewport: { width: 1440, height: 900 } })
    errors = opened.errors
    const client = { id: '', url: service.url, tokens: service.tokens }
    tour = { service, page: opened.page, client, dropped: await filesToDrop() }
  })
  after(() => pages?.stop())

  afterEach(function () {
    // The later steps need this one: they would only wait until their time is over.
    if (this.currentTest?.state === 'failed') throw new Error('the tour ends here')
  })

  for (const [title, step] of STEPS)
    it(title, async function () {
      this.timeout(120_000)
      await step(tour)
      expect(errors.splice(0).filter((error) => !EXPECTED.test(error))).to.deep.equal([])
    })
})

// Chromium reports each response with such a status: those of an ended session, of a wrong password, and before the sign-in.
const EXPECTED = /status of 401 /
