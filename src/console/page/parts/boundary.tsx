import { Component } from 'react';
import type { ReactNode } from 'react';
import { ErrorNote } from './error-note.tsx';

type Props = { children: ReactNode };

/** Confines an error to one panel. */
export class Boundary extends Component<Props, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <ErrorNote error={error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
