import type { Chromium } from '../../support/peers/chromium.ts'

const KEYS: Record<string, { code: string; keyCode: number; text?: string }> = {
  Tab: { code: 'Tab', keyCode: 9 },
  Enter: { code: 'Enter', keyCode: 13, text: '\r' },
  ' ': { code: 'Space', keyCode: 32, text: ' ' },
  Delete: { code: 'Delete', keyCode: 46 },
  ArrowDown: { code: 'ArrowDown', keyCode: 40 },
  p: { code: 'KeyP', keyCode: 80, text: 'p' },
}

/** What a person does in a page of Chromium. */
export function userOf(chromium: Chromium) {
  return {
    /** Presses and releases a key. */
    async press(key: string): Promise<void> {
      const { code = '', keyCode = 0, text } = KEYS[key] ?? {}
      const event = { key, code, windowsVirtualKeyCode: keyCode }
      await chromium.send('Input.dispatchKeyEvent', { ...event, type: 'keyDown', ...(text ? { text } : {}) })
      await chromium.send('Input.dispatchKeyEvent', { ...event, type: 'keyUp' })
    },
  }
}
