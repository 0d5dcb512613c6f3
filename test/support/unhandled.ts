/**
 * For a suite: a rejected promise without a handler fails the test. Node ends the process for it;
 * mocha 12 does not report it.
 */
export function failOnUnhandledRejection(): void {
  const fail = (reason: unknown) => {
    throw reason
  }
  before(() => {
    process.on('unhandledRejection', fail)
  })
  after(() => {
    process.off('unhandledRejection', fail)
  })
}
