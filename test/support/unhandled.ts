/**
 * For a suite: an unhandled rejection of a promise fails the test. Node would end the process for it;
 * mocha 12 ignores it.
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
