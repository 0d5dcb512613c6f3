/** Whether `npm run test:long` runs: it sets this for the files that use `sized`. */
const isLong = process.env.SLUICE_TEST_LONG === '1'

/** How much a test does: enough to see a fault in `npm test`, and all of it in `npm run test:long`. */
export const sized = <T>(usual: T, long: T): T => (isLong ? long : usual)

/** Of variants that take the same code: the first of every `step` of them, and all in the long run. */
export const everyNth = <T>(step: number, all: readonly T[]): readonly T[] =>
  sized(
    all.filter((_, i) => i % step === 0),
    all,
  )

/** Registers a test that runs in `npm run test:long` only. */
export function itLong(title: string, test: Mocha.AsyncFunc): void {
  if (isLong) it(title, test)
}

/** Of a suite on several backends: registers tests in the long run only, on one of them. @param itOnce of the suite */
export const longOnce = <T extends (title: string, test: Mocha.AsyncFunc) => void>(itOnce: T): T =>
  sized((() => {}) as unknown as T, itOnce)

/** Of a suite on several backends: registers tests on one of them, and in the long run on all. @param itOnce of the suite */
export const usuallyOnce = <T extends (title: string, test: Mocha.AsyncFunc) => void>(itOnce: T): T =>
  sized(itOnce, ((title, test) => void it(title, test)) as T)
