/**
 * For a suite: a promise that is rejected and that nobody listens to fails the test. Node ends the process for it;
 * mocha 12 says nothing.
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
