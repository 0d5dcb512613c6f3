import { expect } from 'chai'
import { withUsed } from '../../../src/adapters/redis/used-lua.ts'

describe('withUsed', () => {
  const LIBRARY = `
local first, second = KEYS[1], KEYS[2]
local TABLE = {
  one = 1,
}

-- Calls unused.
local function used(key)
  if key then
    return TABLE.one
  end
end

local function unused()
  return used(first)
end

local function shadow_used()
  return 1
end
redis.call('PING')
`

  it('leaves out what a script does not use, neither itself nor through a function', () => {
    expect(withUsed(LIBRARY, 'return used(KEYS[1])').replace(/\n+/g, '\n')).to.equal(`
local TABLE = {
  one = 1,
}
local function used(key)
  if key then
    return TABLE.one
  end
end
redis.call('PING')
return used(KEYS[1])`)
  })

  it('retains a statement of several names for one of them', () => {
    expect(withUsed(LIBRARY, 'return unused()'))
      .to.include('local first, second')
      .and.to.include('function used')
  })

  it('does not take a part of a name for a name', () => {
    expect(withUsed(LIBRARY, 'return shadow_used()')).not.to.include('function used')
  })
})
