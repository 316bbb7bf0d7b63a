;;; dfl-mode.el --- Major mode for DFL  -*- lexical-binding: t -*-

;; Made by `make editors` from editors/templates/dfl-mode.el.
;; Package-Requires: ((emacs "27.1"))

;;; Commentary:

;; Faces, comments, indentation by four columns a brace, `M-x imenu', `dflc check' for Flymake and `dflc fmt'.
;;
;;     (add-to-list 'load-path "editors/emacs")
;;     (require 'dfl-mode)

;;; Code:

(require 'rx)

(defgroup dfl nil "Workloads, machines and mappings in DFL." :group 'languages)
(defcustom dfl-program "dflc" "The compiler." :type 'string)
(defconst dfl-indent 4 "Columns of a level of braces.")

(defconst dfl--hard
  (regexp-opt '("import" "mapping" "where" "gather" "use" "temporal" "spatial" "keep" "fuse" "pipeline" "require" "expect" "assume" "as" "else" "for" "if" "in" "on" "over") 'symbols)
  "Words that are never names.")
(defconst dfl--prefix (regexp-opt '("dfl" "option" "param" "let" "op" "workload" "system" "sweep" "rank" "input" "weight" "output" "state" "apply" "repeat" "carrying" "memory" "compute" "network" "array" "element" "recompute" "each" "minimize" "pareto") 'symbols) "Words before a name or a value, or names.")
(defconst dfl--infix (regexp-opt '("by" "exactly" "from" "of" "reuse" "load" "step" "times" "within") 'symbols) "Words between two values, or names.")
(defconst dfl--postfix (regexp-opt '("online" "cyclic" "fresh" "window" "split") 'symbols) "Words behind a value, or names.")
(defconst dfl--between
  (concat "[ \t]+\\(?:" (regexp-opt '("where" "pipeline" "as" "else" "for" "if" "in" "on" "over" "carrying") 'symbols)
          "\\|" dfl--infix "[ \t]*\\(?:[^=({[,;: \t]\\|$\\)\\|" dfl--postfix "[ \t]*\\(?:[^=({[: \t]\\|$\\)\\)")
  "A word that stands behind a name, not a name of its own.")
(defconst dfl--declares
  (concat (regexp-opt '("option" "param" "let" "op" "workload" "system" "mapping" "sweep" "memory" "compute" "network" "element") 'symbols) "[ \t]+\\(\\_<[A-Za-z_][A-Za-z0-9_]*\\_>\\)")
  "A declaration up to its name.")
(defconst dfl--unit
  (concat "\\(?:\\(?:[KMGTPE]i\\|[kMGTPE]\\)?" (regexp-opt '("B" "bit"))
          "\\|[pnumkMGTPE]?" (regexp-opt '("s" "J" "W"))
          "\\|[kMGTPE]?" (regexp-opt '("FLOP" "OP" "MAC" "FLOPS" "OPS" "MACS" "Wh" "Hz" "cycle" "USD" "gCO2e"))
          "\\|" (regexp-opt '("min" "h" "day" "year" "m2" "cm2" "mm2" "um2" "%")) "\\)")
  "One unit with its prefix.")
(defconst dfl--number
  (concat "\\_<\\([0-9][0-9_]*\\(?:\\.[0-9][0-9_]*\\)?\\(?:[eE][+-]?[0-9]+\\)?\\)"
          "\\(" dfl--unit "\\(?:/" dfl--unit "\\_>\\)*\\)?\\(?:[^A-Za-z0-9_%]\\|$\\)")
  "A number and its unit.")

(defconst dfl--wrong-number
  "\\_<\\([0-9][0-9_]*\\(?:\\.[0-9][0-9_]*\\)?\\(?:[eE][+-]?[0-9]+\\)?\\)\\([A-Za-z%][A-Za-z0-9_]*\\)"
  "A number and what is no unit.")

(defun dfl--find (regexp wanted limit)
  "Search for REGEXP up to LIMIT where WANTED, called behind it, is true."
  (let (found)
    (while (and (not found) (re-search-forward regexp limit t))
      (setq found (save-match-data (funcall wanted (match-beginning 1)))))
    found))

(defun dfl--before-value (extra)
  "Whether a name or a value follows, one of the characters EXTRA included."
  (or (looking-at "[ \t]*$")
      (and (looking-at (concat "[ \t]+[[:alnum:]_\"" extra "]"))
           (not (looking-at dfl--between)))))

(defun dfl--behind-value (start)
  "Whether no operator or bracket stands before START."
  (save-excursion
    (goto-char start)
    (not (looking-back "[.(,=+*/<>:[-][ \t]?" (max (point-min) (- start 2))))))

(defun dfl--find-prefix (limit)
  "Next statement word up to LIMIT that is not used as a name."
  (dfl--find dfl--prefix
             (lambda (start)
               (and (not (eq (char-before start) ?.))
                    (or (dfl--before-value "")
                        (and (looking-at "[ \t]*[(-]")
                             (save-excursion (goto-char start) (looking-at "\\(?:repeat\\|minimize\\|pareto\\)\\_>"))
                             (save-excursion (goto-char start) (looking-back "\\(?:^\\|[;{}]\\)[ \t]*" (line-beginning-position)))))))
             limit))

(defun dfl--find-infix (limit)
  "Next word between values up to LIMIT that is not used as a name."
  (dfl--find dfl--infix (lambda (start) (and (dfl--behind-value start) (dfl--before-value "(-"))) limit))

(defun dfl--find-postfix (limit)
  "Next modifier up to LIMIT that is not used as a name."
  (dfl--find dfl--postfix
             (lambda (start)
               (and (looking-at "[ \t]*\\(?:[,;]\\|[ \t]on\\(?:line\\)?\\_>\\)")
                    (dfl--behind-value start)
                    (save-excursion
                      (goto-char start)
                      (not (looking-back "\\_<\\(?:on\\|in\\|by\\|as\\|for\\|use\\|keep\\|over\\|recompute\\)[ \t]"
                                         (line-beginning-position))))))
             limit))

(defun dfl--find-declared (limit)
  "Next declared name up to LIMIT."
  (dfl--find dfl--declares
             (lambda (start)
               (and (not (eq (char-before start) ?.))
                    (not (looking-at "[ \t]*[[;]"))
                    (save-excursion
                      (goto-char start)
                      (not (looking-at (concat "[a-z]+" dfl--between))))))
             limit))

(defconst dfl-font-lock-keywords
  `((dfl--find-declared (1 font-lock-keyword-face) (2 font-lock-function-name-face))
    (,dfl--hard . font-lock-keyword-face)
    (dfl--find-prefix . font-lock-keyword-face)
    (dfl--find-infix . font-lock-keyword-face)
    (dfl--find-postfix . font-lock-keyword-face)
    (,dfl--number (1 font-lock-constant-face) (2 font-lock-type-face nil t))
    (,dfl--wrong-number (1 font-lock-constant-face) (2 font-lock-warning-face)))
  "Faces of DFL.")

(defconst dfl--syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?% "." table)
    (modify-syntax-entry ?' "." table)
    table)
  "Comments, strings and brackets.")

(defun dfl--comment-face (state)
  "The face of the comment or string of STATE."
  (cond ((nth 3 state) font-lock-string-face)
        ((save-excursion (goto-char (nth 8 state)) (looking-at "///\\(?:[^/]\\|$\\)")) font-lock-doc-face)
        (t font-lock-comment-face)))

(defun dfl-indent-line ()
  "Indent by the braces that are open; a line that goes on by one level more."
  (interactive)
  (let* ((here (- (current-column) (current-indentation)))
         (columns (save-excursion
                    (beginning-of-line)
                    (let ((depth (car (syntax-ppss))) (closes (looking-at "[ \t]*[]})]")))
                      (* dfl-indent (max 0 (- depth (if closes 1 0))))))))
    (indent-line-to columns)
    (when (> here 0) (move-to-column (+ columns here)))))

(defun dfl-format-buffer ()
  "Lay the buffer out with `dflc fmt'; one with syntax errors stays as it is."
  (interactive)
  (let ((out (generate-new-buffer " *dflc fmt*")))
    (unwind-protect
        (if (zerop (call-process-region (point-min) (point-max) dfl-program nil (list out nil) nil "fmt" "-"))
            (replace-buffer-contents out)
          (message "dflc fmt: the buffer has syntax errors"))
      (kill-buffer out))))

;;;###autoload
(define-derived-mode dfl-mode prog-mode "DFL"
  "Major mode for DFL."
  :syntax-table dfl--syntax-table
  (setq-local comment-start "// " comment-end "" comment-start-skip "\\(?://+\\|/\\*+\\)[ \t]*")
  (setq-local indent-line-function #'dfl-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local fill-column 100)
  (setq-local imenu-generic-expression
              '((nil "^\\s-*\\(?:workload\\|system\\|mapping\\|sweep\\|op\\)\\s-+\\([A-Za-z_][A-Za-z0-9_]*\\)" 1)))
  (setq-local compile-command (concat dfl-program " check " (if buffer-file-name (shell-quote-argument buffer-file-name) "")))
  (setq-local font-lock-defaults
              '(dfl-font-lock-keywords nil nil nil (font-lock-syntactic-face-function . dfl--comment-face))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.dfl\\'" . dfl-mode))

(provide 'dfl-mode)
;;; dfl-mode.el ends here
