CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers (id),
  placed TEXT NOT NULL, state TEXT NOT NULL, paid TEXT
);
INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cyd'), (4, 'Dee');
INSERT INTO orders VALUES
  (1, 1, '2026-01-04', 'sent', NULL), (2, 1, '2026-01-09', 'sent', '2026-01-20'),
  (3, 2, '2025-12-31', 'sent', NULL), (4, 2, '2026-01-31', 'open', NULL),
  (5, 3, '2026-01-02', 'sent', NULL), (6, 3, '2026-01-03', 'cancelled', NULL),
  (7, 4, '2026-01-05', 'sent', NULL), (8, 4, '2026-02-01', 'sent', NULL),
  (9, 4, '2026-01-06', 'sent', NULL), (10, 1, '2026-02-03', 'open', NULL);
