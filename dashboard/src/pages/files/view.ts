import { useState } from 'react'
import type { View } from './list/browser.tsx'

const KEY = 'sluice-files-view'

/** The view that this browser has shown last, by default the grid. */
export function useView(): [View, (view: View) => void] {
  const [view, setView] = useState<View>(() => (localStorage.getItem(KEY) === 'table' ? 'table' : 'grid'))
  return [
    view,
    (next) => {
      localStorage.setItem(KEY, next)
      setView(next)
    },
  ]
}
