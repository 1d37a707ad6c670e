import 'react';

declare module 'react' {
  /** Custom CSS properties that the components set. */
  interface CSSProperties {
    '--avatar-hue'?: number;
    '--avatar-size'?: string;
    '--column-count'?: number;
    '--topics-height'?: string;
    '--types-height'?: string;
  }
}
