;;; colours.el --- Writes the letters of colours.txt for every line of $TEXT to standard output  -*- lexical-binding: t -*-
(require 'dfl-mode)
(defconst letters
  '((font-lock-keyword-face . "k") (font-lock-function-name-face . "d") (font-lock-constant-face . "n")
    (font-lock-type-face . "u") (font-lock-string-face . "s") (font-lock-comment-face . "c")
    (font-lock-comment-delimiter-face . "c") (font-lock-doc-face . "D") (font-lock-warning-face . "x")))
(with-current-buffer (find-file-noselect (getenv "TEXT"))
  (unless (eq major-mode 'dfl-mode) (error "The mode of a .dfl file is %s" major-mode))
  (font-lock-ensure)
  (goto-char (point-min))
  (while (not (eobp))
    (princ (if (eolp) "\n"
             (let ((face (get-text-property (point) 'face)))
               (or (cdr (assq (if (consp face) (car face) face) letters)) "."))))
    (forward-char)))
