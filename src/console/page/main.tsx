import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/pages.css';
import './styles/tables.css';
import './styles/session.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { queries } from './data/queries.ts';
import { applySettings } from './data/settings.ts';
import { Boundary } from './parts/boundary.tsx';
import { router } from './routes/router.tsx';

applySettings();
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <Boundary>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Boundary>,
  );
}
