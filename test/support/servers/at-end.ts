interface Lane {
  atEnd(end: () => Promise<unknown>): void
}

/**
 * Registers the end of a server that test files share: after all files that this process runs. To be called where a module is
 * loaded. A program without mocha ends it before its exit. In a lane of `npm test` each file has a mocha of its own, so a root hook would end the server with the first file.
 */
export function atEnd(end: () => Promise<unknown>): void {
  const lane = (globalThis as { [name: symbol]: unknown })[Symbol.for('sluice.lane')] as Lane | undefined
  if (lane) lane.atEnd(end)
  else if (typeof after === 'undefined') process.once('beforeExit', end)
  else
    after('stop the shared servers', async () => {
      await end()
    })
}
