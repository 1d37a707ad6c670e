import 'react';

declare module 'react' {
  /** Custom properties of this console's styles. */
  interface CSSProperties {
    '--avatar-hue'?: number;
    '--avatar-size'?: string;
  }
}
