import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Native<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>;

/** Links to a console page. The compiler checks paths and parameters. */
export const AnchorLink = createLink((props: Native<AnchorProps>) => <Anchor {...props} />);

export const ButtonLink = createLink((props: Native<ButtonProps>) => <Button component="a" {...props} />);
