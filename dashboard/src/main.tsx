import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { router } from './router.tsx'
import { applyNonce } from './ui/nonce.ts'
import { Toaster } from './ui/overlays/toast.tsx'
import { TooltipProvider } from './ui/overlays/tooltip.tsx'
import { applyTheme } from './ui/theme.ts'

applyNonce()
applyTheme()
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <RouterProvider router={router} />
        <Toaster />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
)
