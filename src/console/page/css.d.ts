// Tests: test/console
declare module '*.css';
